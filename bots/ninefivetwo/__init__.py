"""Strategy and playouts of 9-5-2."""
