"""Strategy and playouts of Dou Dizhu."""
