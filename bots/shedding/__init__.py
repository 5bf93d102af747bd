"""Strategy and playouts of the shedding games, Dou Dizhu and Dasan."""
