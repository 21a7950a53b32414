// Proofs of receipts and of state, verified by a third-party trie, from nothing but hashes of blocks. Usage: proofs.mjs API_URL DUMP
import { verifyMerkleProof } from '@ethereumjs/mpt'
import { fromRlp, hexToBytes, bytesToHex, keccak256, numberToHex, toRlp } from 'viem'
import { check, finish, lines } from './check.mjs'

const [base, dump] = process.argv.slice(2)

// The contents of a receipt, if its path leads to it from the hash of the block; else an error.
async function verify(blockHash, index, proof) {
  if (keccak256(proof.header) !== blockHash) throw new Error('the header is of another block')
  const root = fromRlp(proof.header)[5]
  const key = toRlp(index === 0 ? '0x' : numberToHex(index))
  const value = await verifyMerkleProof(hexToBytes(key), proof.proof.map((node) => hexToBytes(node)), { root: hexToBytes(root) })
  if (value === null || bytesToHex(value) !== proof.receipt) throw new Error('the receipt is not at the end of the path')
  const type = value[0] < 0xc0 ? value[0] : 0
  const [outcome, gas, bloom, logs] = fromRlp(type === 0 ? proof.receipt : `0x${proof.receipt.slice(4)}`)
  return { type, outcome, gas: BigInt(gas === '0x' ? 0 : gas), bloom, logs: logs.map(([address, topics, data]) => ({ address, topics, data })) }
}

const outcomeOf = (receipt) => receipt.status === undefined || receipt.status === null ? receipt.root : receipt.status === '0x1' ? '0x01' : '0x'

async function request(method, params) {
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })
  const answer = await fetch(`${base}/rpc`, { method: 'POST', headers: { 'content-type': 'application/json' }, body })
  return await answer.json()
}

const checkRefusal = async (name, blockHash, index, proof) => {
  const outcome = await verify(blockHash, index, proof).then(() => 'verified', () => 'refused')
  check(`tampered ${name}`, outcome, 'refused')
}

const flip = (hex) => {
  const middle = 2 + 2 * Math.floor((hex.length - 2) / 4)
  return hex.slice(0, middle) + (hex[middle] === '0' ? '1' : '0') + hex.slice(middle + 1)
}

// How many of a kind come first, which of the rest, and of which blocks the ends. The slow run asks for more.
const [FIRST, STEP, BLOCKS] = process.env['TRAWL_TEST_SLOW'] === undefined ? [3, 241, 7] : [12, 41, 1]

const counts = {}
let tampered = 0
for (const [position, { block, receipts }] of lines(dump).entries()) {
  for (const [index, receipt] of (receipts ?? []).entries()) {
    const kind = `${receipt.type ?? '0x0'} ${receipt.status === undefined || receipt.status === null ? 'root' : 'status'}`
    const count = counts[kind] ?? 0
    // Of every kind the first ones, then some, and the ends of blocks, whose keys are of other lengths.
    const ends = position % BLOCKS === 0 ? [0, 1, receipts.length - 1] : []
    const isOfStep = index > 0 && index % STEP === 0
    if (count > FIRST && !isOfStep && ![127, 128, ...ends].includes(index)) continue
    counts[kind] = count + 1
    const hash = receipt.transactionHash
    const { result: proof, error } = await request('trawl_getReceiptProof', [hash])
    if (!proof) { check(hash, error, null); continue }
    const decoded = await verify(block.hash, index, proof).catch((failure) => ({ failure: failure.message }))
    const logs = receipt.logs.map(({ address, topics, data }) => ({ address, topics, data }))
    check(`receipt ${hash}`, decoded, {
      type: Number(receipt.type ?? 0), outcome: outcomeOf(receipt), gas: BigInt(receipt.cumulativeGasUsed), bloom: receipt.logsBloom ?? decoded.bloom, logs,
    })
    check(`position of ${hash}`, [proof.blockHash, Number(proof.transactionIndex)], [block.hash, index])
    if (logs.length > 0 && count < 6) {
      const page = await (await fetch(`${base}/api/v2/transactions/${hash}/logs?proof=1&items_count=3`)).json()
      const rest = await verify(block.hash, index, page.proof)
      for (const item of page.items) {
        const log = rest.logs[item.index - page.proof.first_log_index]
        check(`log ${hash} ${item.index}`, [item.address.hash.toLowerCase(), item.topics.filter((topic) => topic), item.data], [log.address, log.topics, log.data])
      }
    }
    if (count < 3) {
      tampered += 1
      await checkRefusal('header', block.hash, index, { ...proof, header: flip(proof.header) })
      await checkRefusal('receipt', block.hash, index, { ...proof, receipt: flip(proof.receipt) })
      await checkRefusal('position', block.hash, index + 1, proof)
      await checkRefusal('block', keccak256(block.hash), index, proof)
      for (const at of proof.proof.keys()) {
        const nodes = proof.proof.map((node, position) => position === at ? flip(node) : node)
        await checkRefusal(`node ${at}`, block.hash, index, { ...proof, proof: nodes })
        await checkRefusal(`path without node ${at}`, block.hash, index, { ...proof, proof: proof.proof.filter((_, position) => position !== at) })
      }
    }
  }
}
check('unknown', (await request('trawl_getReceiptProof', [`0x${'12'.repeat(32)}`])).result, null)
// Accounts and slots, and that there are none, by paths from the root of a header; where all state is few values.
const empty = '0xc5d2460186f7233c927e7db2dcc703c0e500b653ca82273b7bfad8045d85a470'
const number = (hex) => BigInt(hex === '0x' ? 0 : hex)
const leafOf = async (name, nodes, root) => {
  const leaf = await verifyMerkleProof(hexToBytes(keccak256(name)), nodes.map((node) => hexToBytes(node)), { root: hexToBytes(root) })
  return leaf === null ? null : fromRlp(leaf)
}
const slots = ['0x0', `0x${'00'.repeat(32)}`, '0x13a08e3cd39a1bc7bf9103f63f83273cced2beada9f723945176d6b983c65bd2', '0x02']
let proven = 0
async function proveState(block, address) {
  const at = block.number
  const { result: proof, error } = await request('eth_getProof', [address, slots, at])
  if (!proof) return check('no proof of state', [error.code, error.message.startsWith('`eth_getProof` needs a node, and')], [-32601, true])
  const account = await leafOf(address, proof.accountProof, block.stateRoot).catch((failure) => failure.message)
  const decoded = account && [number(account[0]), number(account[1]), account[2], account[3]]
  const zero = `0x${'00'.repeat(32)}`
  const there = decoded ? [proof.nonce, proof.balance].map(number).concat(proof.storageHash, proof.codeHash) : null
  check(`account ${address} at ${at}`, decoded, there)
  if (!decoded) check(`no account ${address} at ${at}`, [proof.nonce, proof.balance, proof.storageHash, proof.codeHash], ['0x0', '0x0', zero, zero])
  const [balance, nonce, code] = await Promise.all(['eth_getBalance', 'eth_getTransactionCount', 'eth_getCode'].map((method) => request(method, [address, at])))
  check(`values of ${address} at ${at}`, [proof.balance, proof.nonce], [balance.result, nonce.result])
  check(`code of ${address} at ${at}`, decoded ? proof.codeHash : empty, code.result === '0x' ? empty : keccak256(code.result))
  check(`keys of ${address}`, proof.storageProof.map(({ key }) => key), ['0x0', slots[1], slots[2], '0x2'])
  for (const [position, { value, proof: nodes }] of proof.storageProof.entries()) {
    const leaf = nodes.length === 0 ? null : await leafOf(`0x${slots[position].slice(2).padStart(64, '0')}`, nodes, proof.storageHash)
    check(`slot ${slots[position]} of ${address} at ${at}`, leaf === null ? 0n : number(leaf), number(value))
    const stored = await request('eth_getStorageAt', [address, slots[position], at])
    check(`value of slot ${slots[position]} of ${address} at ${at}`, number(value), number(stored.result))
    if (leaf !== null) proven += 1
  }
}
const blocks = lines(dump).map(({ block }) => block)
for (const block of [0, 1, 20, 45, blocks.length - 1].map((position) => blocks[Math.min(position, blocks.length - 1)])) {
  const { from, to } = block.transactions[0] ?? { from: block.miner }
  for (const address of new Set([from, to ?? block.miner, '0x7dcd17433742f4c0ca53122ab541d0ba67fc27df', `0x${'12'.repeat(20)}`])) {
    await proveState(block, address)
  }
}
check('slots of hive are proven', proven >= 3, dump.includes('hive'))
check('kinds', [Object.keys(counts).length >= 4, tampered >= 8], [true, true])
console.log(JSON.stringify(counts))
finish()
