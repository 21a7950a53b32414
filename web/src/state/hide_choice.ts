// Whether zero-value transfers and look-alike tokens are hidden, as they are until the reader chooses otherwise.
import type { Token, TokenTransfer } from '../api/types.ts';
import { suspicionOf } from '../format/suspect.ts';
import { chain } from './chain.ts';
import { knownTokens } from './known_tokens.ts';
import { storedSignal } from './storage.ts';

const choice = storedSignal<boolean>('hide', true, (text) => text !== 'no', (value) => (value ? 'yes' : 'no'));
export const isHiding = choice.value;
export const hide = choice.set;

export const isSuspect = (token: Token) => suspicionOf(token, chain.value, knownTokens()) !== null;

/** Transfers of zero need no approval, so that they can name any sender. */
export const isWorthless = (item: Pick<TokenTransfer, 'token' | 'total'>) => isSuspect(item.token) || (item.total?.value === '0' && !item.total.token_id);
