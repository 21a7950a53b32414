// The authorizations of a transaction (EIP-7702), each with whether it took effect and why not.
import { useEffect, useState } from 'preact/hooks';
import { call } from '../api/request.ts';
import { type Authorization, type Nonces, validityOf } from '../format/delegation.ts';
import { count } from '../format/amount.ts';
import { chain } from '../state/chain.ts';
import { Address } from './Address.tsx';
import { Unknown } from './Unknown.tsx';

/** The most accounts whose nonces are requested. */
const MAX_ACCOUNTS = 20;

const nonce = (account: string, block: number) => (block < 0 ? Promise.resolve(0) : call<string>('eth_getTransactionCount', [account, `0x${block.toString(16)}`]).then(Number, () => null));

/** The nonces of the signers before and after a block. */
function useNonces(of: Authorization[], block: number): Record<string, Nonces> {
  const [nonces, setNonces] = useState<Record<string, Nonces>>({});
  const accounts = [...new Set(of.map((item) => item.authority).filter((account) => account !== null))].slice(0, MAX_ACCOUNTS);
  useEffect(() => {
    for (const account of accounts) {
      void Promise.all([nonce(account, block - 1), nonce(account, block)]).then(([before, after]) => setNonces((nonces) => ({ ...nonces, [account]: { before, after } })));
    }
  }, [accounts.join(), block]);
  return nonces;
}

export function Delegations({ of, block }: { of: Authorization[]; block: number }) {
  const nonces = useNonces(of, block);
  return <div class="stack">{of.map((item, index) => <Delegation key={index} of={item} nonces={(item.authority && nonces[item.authority]) || { before: null, after: null }} isLoaded={!item.authority || nonces[item.authority] !== undefined || index >= MAX_ACCOUNTS} />)}</div>;
}

function Delegation({ of, nonces, isLoaded }: { of: Authorization; nonces: Nonces; isLoaded: boolean }) {
  const { isValid, why } = validityOf(of, chain.value.id, nonces);
  const isRevoked = /^0x0{40}$/.test(of.address_hash ?? '');
  return (
    <div class="row">
      {of.authority ? <Address of={{ hash: of.authority }} /> : <Unknown why="The signature recovers to no address" />} <span class="quiet">→</span>{' '}
      {isRevoked ? <span>no contract (revoked)</span> : <Address of={of.address_hash ? { hash: of.address_hash } : null} />}
      <span class="quiet">chain {String(of.chain_id) === '0' ? 'any' : of.chain_id}, nonce {count(of.nonce)}</span>
      <span class={isValid === null ? 'quiet' : isValid ? 'badge good' : 'badge bad'}>{isLoaded || isValid === false ? why : '…'}</span>
    </div>
  );
}
