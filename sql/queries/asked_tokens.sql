-- Which of these contracts were asked what they are.
SELECT DISTINCT address
FROM tokens
WHERE address IN (SELECT toFixedString(unhex(arrayJoin({addresses:Array(String)})), 20))
