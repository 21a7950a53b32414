-- The objects of a bucket that match a pattern, with their texts. The named collection has the URL and the keys.
SELECT CAST(_path, 'String') AS path, line
FROM s3({collection:Identifier}, filename = {path:String}, format = 'RawBLOB', structure = 'line String')
