; MPB: the lowest bands of a diamond lattice of dielectric spheres, at 4 points
(set! geometry-lattice
      (make lattice (basis-size (sqrt 0.5) (sqrt 0.5) (sqrt 0.5))
            (basis1 0 1 1) (basis2 1 0 1) (basis3 1 1 0)))
(set! default-material (make dielectric (epsilon 1)))
(set! geometry
      (list (make sphere (center 0.125 0.125 0.125) (radius 0.25) (material (make dielectric (epsilon 11.56))))
            (make sphere (center -0.125 -0.125 -0.125) (radius 0.25) (material (make dielectric (epsilon 11.56))))))
(set! k-points (list (vector3 0 0.5 0.5) (vector3 0 0.625 0.375) (vector3 0 0.5 0) (vector3 0.25 0.25 0.25)))
(set-param! resolution 12)
(set-param! mesh-size 3)
(set-param! num-bands 4)
(set-param! deterministic? true)
(run)
