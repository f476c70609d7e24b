// Package readtest helps the tests of readers: it reads sources to the end and cuts folders
// out of archives. Only tests use it.
package readtest
