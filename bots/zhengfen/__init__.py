"""Strategy and playouts of Zheng Fen."""
