// Package embedding turns texts into vectors through any endpoint that speaks the OpenAI
// embeddings protocol (POST {base}/embeddings), and remembers them on disk.
//
// Invariants:
//
//   - A text is sent once per model: a second run with the same cache sends nothing and
//     returns the same numbers. Every batch is stored as soon as it has arrived.
//   - A vector counts only if the whole response is sound: one vector for each text, each
//     index once, one length throughout, finite numbers.
//   - The key is sent to the endpoint and nowhere else: it is in no error and not in the
//     cache.
//   - The waits between attempts are the same in every run.
package embedding
