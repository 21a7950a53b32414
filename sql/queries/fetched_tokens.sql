-- Which of these contracts have stored metadata.
SELECT DISTINCT address
FROM tokens
WHERE address IN (SELECT toFixedString(unhex(arrayJoin({addresses:Array(String)})), 20))
