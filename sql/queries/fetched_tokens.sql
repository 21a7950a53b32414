-- Which of these contracts have stored metadata.
SELECT DISTINCT address
FROM tokens
WHERE address IN {addresses:Array(FixedString(20))}
