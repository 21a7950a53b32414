// Proofs of receipts, verified by a trie that nobody here wrote, from nothing but hashes of blocks. Usage: proofs.mjs API_URL DUMP
import { verifyMerkleProof } from '@ethereumjs/mpt'
import { fromRlp, hexToBytes, bytesToHex, keccak256, numberToHex, toRlp } from 'viem'
import { check, finish, lines } from './check.mjs'

const [base, dump] = process.argv.slice(2)

// What the receipt of a transaction says, if its path leads from the hash of its block to it; else an error.
async function verified(blockHash, index, proof) {
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

async function ask(method, params) {
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })
  const answer = await fetch(`${base}/rpc`, { method: 'POST', headers: { 'content-type': 'application/json' }, body })
  return await answer.json()
}

const refused = async (name, blockHash, index, proof) => {
  const outcome = await verified(blockHash, index, proof).then(() => 'verified', () => 'refused')
  check(`tampered ${name}`, outcome, 'refused')
}

const flipped = (hex) => {
  const middle = 2 + 2 * Math.floor((hex.length - 2) / 4)
  return hex.slice(0, middle) + (hex[middle] === '0' ? '1' : '0') + hex.slice(middle + 1)
}

// How many of a kind come first, and which of the rest. The slow run asks for more.
const [FIRST, STEP] = process.env['TRAWL_TEST_SLOW'] === undefined ? [6, 123] : [12, 41]

const seen = {}
let tampered = 0
for (const { block, receipts } of lines(dump)) {
  for (const [index, receipt] of (receipts ?? []).entries()) {
    const kind = `${receipt.type ?? '0x0'} ${receipt.status === undefined || receipt.status === null ? 'root' : 'status'}`
    const many = seen[kind] ?? 0
    // Of every kind the first ones, then some, and the ends of blocks, whose keys are of other lengths.
    if (many > FIRST && index % STEP !== 0 && ![1, 127, 128, receipts.length - 1].includes(index)) continue
    seen[kind] = many + 1
    const hash = receipt.transactionHash
    const { result: proof, error } = await ask('trawl_getReceiptProof', [hash])
    if (!proof) { check(hash, error, null); continue }
    const told = await verified(block.hash, index, proof).catch((failure) => ({ failure: failure.message }))
    const logs = receipt.logs.map(({ address, topics, data }) => ({ address, topics, data }))
    check(`receipt ${hash}`, told, {
      type: Number(receipt.type ?? 0), outcome: outcomeOf(receipt), gas: BigInt(receipt.cumulativeGasUsed), bloom: receipt.logsBloom ?? told.bloom, logs,
    })
    check(`place of ${hash}`, [proof.blockHash, Number(proof.transactionIndex)], [block.hash, index])
    if (logs.length > 0 && many < 6) {
      const page = await (await fetch(`${base}/api/v2/transactions/${hash}/logs?proof=1&items_count=3`)).json()
      const rest = await verified(block.hash, index, page.proof)
      for (const item of page.items) {
        const proven = rest.logs[item.index - page.proof.first_log_index]
        check(`log ${hash} ${item.index}`, [item.address.hash.toLowerCase(), item.topics.filter((topic) => topic), item.data], [proven.address, proven.topics, proven.data])
      }
    }
    if (many < 3) {
      tampered += 1
      await refused('header', block.hash, index, { ...proof, header: flipped(proof.header) })
      await refused('receipt', block.hash, index, { ...proof, receipt: flipped(proof.receipt) })
      await refused('place', block.hash, index + 1, proof)
      await refused('block', keccak256(block.hash), index, proof)
      for (const at of proof.proof.keys()) {
        const nodes = proof.proof.map((node, place) => place === at ? flipped(node) : node)
        await refused(`node ${at}`, block.hash, index, { ...proof, proof: nodes })
        await refused(`path without node ${at}`, block.hash, index, { ...proof, proof: proof.proof.filter((_, place) => place !== at) })
      }
    }
  }
}
check('unknown', (await ask('trawl_getReceiptProof', [`0x${'12'.repeat(32)}`])).result, null)
check('eth_getProof', (await ask('eth_getProof', [`0x${'12'.repeat(20)}`, [], 'latest'])).error?.message, '`eth_getProof` needs a node, and this server has no --upstream-rpc-url: the tries of state are not stored here')
check('kinds', [Object.keys(seen).length >= 4, tampered >= 8], [true, true])
console.log(JSON.stringify(seen))
finish()
