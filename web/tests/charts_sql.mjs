// The SQL that charts offer, run on the engine, gives what the API answered them.
// Usage: charts_sql.mjs API ENGINE DATABASE
import assert from 'node:assert/strict';
import './typescript.mjs';

const sql = await import('../src/charts/sql.ts');
const [api, engine, database] = process.argv.slice(2);
let compared = 0;

const get = async (path) => {
  const answer = await fetch(api + path);
  assert.equal(answer.status, 200, `${path}: ${await answer.clone().text()}`);
  return answer.json();
};

async function rows(text) {
  const settings = 'output_format_json_quote_64bit_integers=1&output_format_json_quote_decimals=1&output_format_json_quote_denormals=1';
  const answer = await fetch(`${engine}/?database=${database}&${settings}`, { method: 'POST', body: `${text} FORMAT JSONEachRow` });
  const body = await answer.text();
  assert.equal(answer.status, 200, `${text}\n${body}`);
  return body.trim().split('\n').filter(Boolean).map((line) => JSON.parse(line));
}

/** Compares sorted texts: the order of rows with the same rank is not defined. */
function same(name, actual, expected) {
  const texts = (all) => all.map((one) => JSON.stringify(one.map((value) => (value === null ? '' : String(value))))).sort();
  assert.ok(expected.length > 0, `${name}: nothing to compare`);
  assert.deepEqual(texts(actual), texts(expected), name);
  compared += 1;
}

const near = (name, actual, expected, tolerance) => {
  assert.equal(actual.length, expected.length, name);
  assert.ok(actual.length > 0, name);
  actual.forEach((value, at) => assert.ok(Math.abs(value - expected[at]) <= tolerance * Math.abs(expected[at]), `${name}: ${value}, not ${expected[at]}`));
  compared += 1;
};

const day = (text) => String(text).slice(0, 10);
const lower = (address) => (address === null ? null : address.hash.toLowerCase());
const { items: transfers } = await get('/api/v2/token-transfers?items_count=100');
const erc20 = transfers.find((item) => item.token_type === 'ERC-20');
const token = erc20.token.address_hash.toLowerCase();
const address = erc20.from.hash.toLowerCase();

for (const period of ['DAY', 'WEEK', 'MONTH', 'YEAR']) {
  const by = `?resolution=${period}`;
  // The first week begins before 1970, which the API does not say; and a genesis alone on its day begins no chart.
  const late = (row) => !day(row.period).startsWith('19');
  const events = (await get(`/api/v2/addresses/${token}/activity/events${by}`)).items;
  same('events', (await rows(sql.eventsSql(token, period))).map((row) => [day(row.period), row.event, row.logs]), events.map((item) => [item.date, item.topic0, item.logs_count]));
  const methods = (await get(`/api/v2/addresses/${token}/activity/methods${by}`)).items;
  same('methods', (await rows(sql.methodsSql(token, period))).map((row) => [day(row.period), row.method === '0x' ? null : row.method, row.transactions, row.failed]), methods.map((item) => [item.date, item.method_id, item.transactions_count, item.failed_count]));
  const life = (await get(`/api/v2/tokens/${token}/activity${by}`)).items;
  same('transfers', (await rows(sql.transfersSql(token, period))).map((row) => [day(row.period), row.transfers, row.mints, row.burns, row.senders, row.receivers]), life.map((item) => [item.date, item.transfers_count, item.mints_count, item.burns_count, item.senders_count, item.receivers_count]));
  const chain = (await get(`/api/v2/stats/activity${by}`)).items;
  const senders = await rows(sql.sendersSql(period, null));
  same('senders', senders.map((row) => [day(row.period), row.transactions, row.failed, row.senders, row.new_senders]), chain.map((item) => [item.date, item.transactions_count, item.failed_count, item.senders_count, item.new_senders_count]));
  near('failed fees', senders.map((row) => row.failed_fees), chain.map((item) => Number(item.failed_fees) / 1e18), 1e-9);
  near('prices', (await rows(sql.pricesSql(period, null))).map((row) => row.gwei[1]), chain.map((item) => Number(item.gas_price_p50) / 1e9), 0.2);
  for (const { id } of (await get('/stats-service/api/v1/lines')).sections.flatMap((section) => section.charts)) {
    const text = sql.lineSql(id, period);
    assert.ok(text, `${id} has no SQL`);
    const { chart } = await get(`/stats-service/api/v1/lines/${id}${by}`);
    const result = await rows(text);
    const values = new Map(result.filter(late).map((row) => [day(row.period), Number(row.value)]));
    const points = chart.filter((point) => values.has(point.date));
    assert.ok(chart.length === 0 || points.length >= chart.length - 1, `${id}: ${JSON.stringify(chart)}, not ${JSON.stringify(result)}`);
    if (points.length > 0) near(`${id} by ${period}`, points.map((point) => Number(point.value)), points.map((point) => values.get(point.date)), 1e-6);
  }
}

const flows = (await get(`/api/v2/addresses/${address}/activity/counterparties`)).items;
same('counterparties', (await rows(sql.counterpartiesSql(address))).map((row) => [row.counterparty, row.token, row.token_type, row.received_count, row.sent_count]), flows.map((item) => [lower(item.address), item.token.address_hash.toLowerCase(), item.token_type, item.received_count, item.sent_count]));
const coins = (await get(`/api/v2/addresses/${address}/activity/coins`)).items;
same('coins', (await rows(sql.coinsSql(address))).map((row) => [row.counterparty, row.received_count, BigInt(row.received_wei), row.sent_count, BigInt(row.sent_wei)]), coins.map((item) => [lower(item.address), item.received_count, item.received_amount, item.sent_count, item.sent_amount]));

/** Kinds of failures without their messages, which the SQL does not read. */
function kinds(items) {
  const sums = new Map();
  for (const item of items) {
    const key = JSON.stringify([lower(item.contract), item.method_id, item.error, item.revert_id ?? '0x']);
    sums.set(key, (sums.get(key) ?? 0) + item.transactions_count);
  }
  return [...sums].map(([key, count]) => [key, count]);
}
const failures = async (contract, path, from = null) => same('failures', (await rows(sql.failuresSql(contract, from))).map((row) => [JSON.stringify([row.contract, row.method, row.error, row.revert_id]), row.transactions_count]), kinds((await get(path)).items));
await failures(null, '/api/v2/stats/activity/failures');
const days = (await get('/api/v2/stats/activity?resolution=DAY')).items.map((item) => item.date);
await failures(null, `/api/v2/stats/activity/failures?from=${days.at(-1)}`, days.at(-1));
const failed = (await get('/api/v2/stats/activity/failures')).items.find((item) => item.contract !== null).contract.hash.toLowerCase();
await failures(failed, `/api/v2/addresses/${failed}/activity/failures`);

const { code_hash: code, items: creators } = await get(`/api/v2/smart-contracts/${token}/same-code`);
same('same code', (await rows(sql.sameCodeSql(code))).map((row) => [row.created_by, row.creations]), creators.map((item) => [lower(item.creator), item.creations_count]));
const { items: blocks } = await get('/api/v2/blocks?items_count=100');
const newest = await rows(sql.newestSql('transactions_count'));
same('newest', newest.map((row) => [row.block_number, row.transactions_count]), blocks.map((block) => [block.height, block.transactions_count]));
console.log(`${compared} compared`);
