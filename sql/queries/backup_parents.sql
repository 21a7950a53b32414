-- The folders of the objects of a bucket that match a pattern: so many levels above the end of their path.
SELECT DISTINCT splitByChar('/', CAST(_path, 'String'))[-toInt8({above:UInt8})] AS name
FROM s3({collection:Identifier}, filename = {path:String}, format = 'One')
ORDER BY name
