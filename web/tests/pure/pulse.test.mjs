// Whether a chain is live, from the health that the server reports.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { intervalOf, pulseOf } from '../../src/format/pulse.ts';

const following = { node_block: 500, lag_blocks: 0, silent_ms: 100, head_age_ms: 800, report_age_ms: 100 };
const health = (own = {}, follows = {}) => ({ healthy: true, state: 'healthy', damage: null, problems: [], data: { latest_block_number: 500, ranges: 1, following: { ...following, ...follows } }, ...own });
const summary = (state, own = {}) => {
  const { tone, word, detail } = pulseOf({ health: state, since: 0, interval: 1000, newest: '2025-07-07T17:00:11.000000Z', ...own });
  return `${tone}: ${word}: ${detail}`;
};

test('a chain that moves is live', () => {
  assert.equal(summary(health()), 'good: live: New blocks come in (usually every 1 second)');
  assert.equal(summary(health({}, { head_age_ms: 25_000 })), 'good: live: New blocks come in (usually every 1 second)');
  assert.match(summary(health({}, { head_age_ms: 100_000 }), { interval: 12_000 }), /^good: /);
});

test('a chain that stands still is not, and the summary tells for how long', () => {
  assert.equal(summary(health({}, { head_age_ms: 45_000 })), 'late: late: No block for 45 seconds (usually every 1 second)');
  assert.equal(summary(health({}, { head_age_ms: 346_100, silent_ms: 346_100 }), { since: 140_000 }), 'bad: stopped: No block for 8 minutes (usually every 1 second)');
  // Time passes also without reports.
  assert.match(summary(health(), { since: 130_000 }), /^bad: stopped: No block for 2 minutes/);
  const silent = [{ kind: 'node_silent', detail: 'node 1 does not answer', seconds: 90 }, { kind: 'stale', detail: 'readers have seen no new block', seconds: 90 }];
  assert.equal(summary(health({ state: 'stale', healthy: false, problems: silent }, { head_age_ms: 90_000 })), 'bad: stopped: No block for 1 minute (usually every 1 second); node 1 does not answer');
  assert.match(summary(health({}, { head_age_ms: null })), /^bad: stopped: No block for more than a day/);
});

test('what is wrong beside that', () => {
  assert.equal(summary(null), 'late: no connection: The server does not answer');
  assert.equal(summary(health({}, { lag_blocks: 1200 })), 'late: behind: 1,200 blocks behind its node');
  assert.equal(summary(health({ problems: [{ kind: 'follow_silent', detail: 'it has not reported', seconds: 9 }] })), 'late: live, with problems: it has not reported');
  assert.match(summary(health({ state: 'damaged', damage: 'logs' })), /^bad: damaged: Rows were lost: logs/);
  assert.match(summary(health({ state: 'not ready', problems: [{ kind: 'x', detail: 'ClickHouse does not answer', seconds: null }] })), /^bad: not ready: ClickHouse/);
});

test('a chain that is not followed is neither live nor stopped', () => {
  assert.equal(summary(health({ data: { latest_block_number: 5, ranges: 1, following: null } })), 'still: not followed: The chain was loaded and is not followed. The newest block is from 2025-07-07 17:00 UTC.');
});

test('how often blocks come', () => {
  const block = (height, second) => ({ height, timestamp: new Date(second * 1000).toISOString() });
  assert.equal(intervalOf([block(20, 136), block(19, 124), block(17, 100)]), 12_000);
  assert.equal(intervalOf([block(20, 136)]), null);
  assert.equal(intervalOf([]), null);
});
