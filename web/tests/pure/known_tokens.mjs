// The bundled tokens of a chain, from the files that the server has them from.
import { readFileSync } from 'node:fs';
import { KnownTokens } from '../../src/format/suspect.ts';

const lines = ['known_tokens', 'listed_tokens'].flatMap((file) => readFileSync(new URL(`../../../crates/json/src/tokens/${file}.txt`, import.meta.url), 'utf8').split('\n')).filter((line) => line && !line.startsWith('#'));
const tokens = lines.map((line) => /^(?<chain>\d+) (?<address>\S+) \d+ (?<symbol>\S+) (?<name>.+)$/.exec(line).groups);

export const knownTokensOf = (chain) => new KnownTokens(tokens.filter((token) => token.chain === String(chain)));
export const chains = [...new Set(tokens.map(({ chain }) => chain))];
