-- How many objects of a bucket match a pattern, and their bytes; their names are listed, and none is read.
SELECT count() AS objects, toUInt64(ifNull(sum(_size), 0)) AS bytes
FROM s3({collection:Identifier}, filename = {path:String}, format = 'One')
