-- The number of the newest load of labels; 0 before the first.
SELECT max(generation) AS generation
FROM label_loads
