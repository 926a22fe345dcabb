"""The console command `waystation`: for people who run the system or look into a match."""
