"""Sources that come with Weighbridge: plugins like any other, of the group `weighbridge.sources`."""
