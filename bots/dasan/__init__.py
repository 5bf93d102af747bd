"""Strategy and playouts of Dasan."""
