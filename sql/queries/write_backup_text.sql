-- Writes an object of a bucket; ClickHouse refuses to write over one.
INSERT INTO FUNCTION s3({collection:Identifier}, filename = {path:String}, format = 'LineAsString', structure = 'line String')
SELECT {text:String}
