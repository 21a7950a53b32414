// The pages of a chain, from what its API has: every route, every part, with real blocks, transactions, addresses and tokens.

async function json(origin, path) {
  const answer = await fetch(origin + path);
  return answer.ok ? answer.json() : null;
}

/** A text that the list shows: this one, or the message of the API if it lacks the data. */
async function listText(origin, path, text) {
  const answer = await fetch(origin + path);
  return answer.ok ? text : (await answer.json()).message.slice(0, 60);
}

/** An account that delegates to a contract (EIP-7702), if the chain has one. */
async function delegatedAccount(origin) {
  const signers = new Set();
  let cursor = '';
  for (let page = 0; page < 8 && cursor !== null && signers.size === 0; page += 1) {
    const { items, next_page_params: next } = await json(origin, `/api/v2/transactions?items_count=100${cursor}`);
    for (const item of items) for (const { authority } of item.authorization_list ?? []) if (authority) signers.add(authority);
    cursor = next ? `&${new URLSearchParams(Object.entries(next).filter(([name, value]) => name !== 'items_count' && value !== null))}` : null;
  }
  for (const signer of [...signers].slice(0, 10)) if ((await json(origin, `/api/v2/addresses/${signer}`))?.proxy_type === 'eip7702') return signer;
  return null;
}

/** Name, path, and a text of the API that the page has to show. */
export async function routesOf(origin) {
  const blocks = (await json(origin, '/api/v2/blocks?items_count=100')).items;
  const busy = blocks.reduce((most, block) => (block.transactions_count > most.transactions_count ? block : most));
  const transactions = (await json(origin, `/api/v2/blocks/${busy.height}/transactions?items_count=100`)).items;
  const long = transactions.reduce((most, one) => (one.raw_input.length > most.raw_input.length ? one : most));
  const failed = transactions.find((one) => one.status === 'error') ?? long;
  const tokens = (await json(origin, '/api/v2/tokens')).items;
  const transfers = (await json(origin, '/api/v2/token-transfers?items_count=100')).items;
  const token = tokens[0]?.address_hash ?? transfers[0].token.address_hash;
  const nft = transfers.find((one) => one.token_type === 'ERC-721');
  const uncle = (await json(origin, '/api/v2/blocks?type=uncle')).items[0];
  const delegated = await delegatedAccount(origin);
  const sender = long.from.hash;
  const [tx, address] = [`/tx/${long.hash}`, `/address/${sender}`];
  return [
    ['home', '/', blocks[0].height.toLocaleString('en')],
    ['blocks', '/blocks', blocks[1].height.toLocaleString('en')],
    ['uncles', '/blocks?type=uncle', 'Uncles'],
    ['txs', '/txs', 'Transactions'],
    ['internal-txs', '/internal-txs', 'Internal'],
    ['token-transfers', '/token-transfers', 'Token transfers'],
    ['withdrawals', '/withdrawals', 'Withdrawals'],
    ['alias', '/txsInternal', 'Internal transactions'],
    ['operations', '/ops', 'User operations'],
    ['operation-unknown', `/op/0x${'12'.repeat(32)}`, 'User operation'],
    ['names', '/names', 'Private names'],
    ['gas', '/gas', 'What usual transactions cost'],
    ['gas-alias', '/gastracker', 'What usual transactions cost'],
    ['docs', '/docs', '/api/v2/transactions/{transaction_hash}/calls'],
    ['tools', '/tools?q=0xa9059cbb', 'transfer(address'],
    ['block', `/block/${busy.height}`, busy.hash],
    ['block-by-hash', `/block/${busy.hash}`, busy.height.toLocaleString('en')],
    ['block-withdrawals', `/block/${busy.height}?tab=withdrawals`, busy.hash],
    ['block-internal', `/block/${busy.height}?tab=internal_txns`, busy.hash],
    ...(uncle ? [['uncle', `/block/${uncle.hash}`, 'Included by']] : []),
    ['block-unknown', '/block/999999999999', 'Not indexed here'],
    ['tx', tx, sender],
    ['tx-failed', `/tx/${failed.hash}`, failed.hash],
    ['tx-logs', `${tx}?tab=logs`, long.hash],
    ['tx-transfers', `${tx}?tab=token_transfers`, long.hash],
    ['tx-trace', `${tx}?tab=trace`, long.hash],
    ['tx-state', `${tx}?tab=state`, long.hash],
    ['tx-raw', `${tx}?tab=raw`, long.hash],
    ['tx-proof', `${tx}?tab=proof`, 'Proof of the receipt'],
    ['tx-unknown', `/tx/0x${'12'.repeat(32)}`, 'known to nodes alone'],
    ['address', address, sender],
    ['address-alias', `${address}/transactions`, sender],
    ...['token_transfers', 'internal_txns', 'tokens', 'nft', 'logs', 'contract', 'coin_balance_history'].map((tab) => [`address-${tab}`, `${address}?tab=${tab}`, sender]),
    ['address-activity', `${address}?tab=activity`, 'Token transfers by counterparty'],
    ['address-approvals', `${address}?tab=approvals`, sender],
    ['address-operations', `${address}?tab=user_ops`, 'User operations'],
    ['contract', `/address/${token}?tab=contract`, token],
    ...(delegated ? [['account-delegated', `/address/${delegated}`, 'Delegated to']] : []),
    ['contract-token', `/address/${token}?tab=token`, 'Holders and supply'],
    ['contract-logs', `/address/${token}?tab=logs`, token],
    ['accounts', '/accounts', await listText(origin, '/api/v2/addresses', 'As it was after block')],
    ['accounts-transactions', '/accounts?sort=transactions_count', await listText(origin, '/api/v2/addresses?sort=transactions_count', 'As it was after block')],
    ['tokens', '/tokens', 'Tokens'],
    ['token', `/token/${token}`, token],
    ['token-activity', `/token/${token}?tab=activity`, 'Events by day'],
    ['token-holders', `/token/${token}?tab=holders`, token],
    ...(nft ? [['token-ids', `/token/${nft.token.address_hash}?tab=inventory`, nft.token.address_hash], ['instance', `/token/${nft.token.address_hash}/instance/${nft.total.token_id}`, 'Id']] : []),
    ['search', '/search?q=co', 'Search'],
    ['search-day', '/search?q=2030-01-01', 'The block at 2030-01-01'],
    ['search-markup', `/search?q=${encodeURIComponent('<img src=x onerror=alert(1)>')}`, '<img src=x onerror=alert(1)>'],
    ['scan', `/scan?kind=logs&address=${token}`, 'What will be read'],
    ['scan-transfers', '/scan?kind=token-transfers', 'What will be read'],
    ['charts', `/charts?contract=${token}`, 'Events by day'],
    ['status', '/status', 'none was seen'],
    ['nowhere', '/address/0x12', '0x and 40 hexadecimal digits'],
  ];
}
