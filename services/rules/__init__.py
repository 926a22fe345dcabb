"""The worker that hosts one title: it decides, stores and shows. Nobody else reads whole match streams."""
