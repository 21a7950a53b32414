// Functions and events whose numbers are amounts of the token that is called or emits them.
import type { Token } from '../../api/types.ts';

/** transfer, transferFrom, approve, mint, burn, burn from, burnFrom, increaseAllowance, decreaseAllowance, withdraw, balanceOf, allowance, totalSupply. */
const FUNCTIONS = ['a9059cbb', '23b872dd', '095ea7b3', '40c10f19', '42966c68', '9dc29fac', '79cc6790', '39509351', 'a457c2d7', '2e1a7d4d', '70a08231', 'dd62ed3e', '18160ddd'];
/** Transfer, Approval, Deposit, Withdrawal: by the first four bytes of their topic. */
const EVENTS = ['ddf252ad', '8c5be1e5', 'e1fffcc4', '7fcf532c'];
const SELECTORS_AND_TOPICS = new Set([...FUNCTIONS, ...EVENTS]);

/** Whether the whole numbers of a call or an event of a token are amounts of it; `id` is a selector or a topic. */
export const hasTokenAmounts = (token: Token, id: string) => token.type === 'ERC-20' && SELECTORS_AND_TOPICS.has(id.slice(2, 10).toLowerCase());
