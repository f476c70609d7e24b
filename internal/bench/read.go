package bench

// ReadManifest reads the manifest of the dataset in dir.
func ReadManifest(dir string) (Manifest, error) {
	root, err := openDataset(dir)
	if err != nil {
		return Manifest{}, err
	}
	defer root.Close()
	return readManifest(root)
}
