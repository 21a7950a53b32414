// Rows counted by time while they stream in: the steps grow with the time that they span, so that memory is bounded.

const MAX_STEPS = 400;
const STEPS = [12, 60, 300, 900, 3600, 4 * 3600, 86_400, 7 * 86_400, 28 * 86_400, 364 * 86_400];

export class Buckets {
  private step = 0;
  private counts = new Map<number, Map<string, number>>();

  /** Counts a row under a name; `time` is in seconds since 1970. */
  add(time: number, name: string): void {
    const at = Math.floor(time / this.width) * this.width;
    const counts = this.counts.get(at) ?? new Map<string, number>();
    counts.set(name, (counts.get(name) ?? 0) + 1);
    this.counts.set(at, counts);
    if (this.counts.size > MAX_STEPS && this.step < STEPS.length - 1) this.widen();
  }

  /** The length of a step in seconds. */
  get width(): number {
    return STEPS[this.step] as number;
  }

  private widen(): void {
    this.step += 1;
    const before = this.counts;
    this.counts = new Map();
    for (const [time, counts] of before) {
      const at = Math.floor(time / this.width) * this.width;
      const sum = this.counts.get(at) ?? new Map<string, number>();
      for (const [name, count] of counts) sum.set(name, (sum.get(name) ?? 0) + count);
      this.counts.set(at, sum);
    }
  }

  /** Counts by time: a series for each of the most frequent names, and one for the others. Steps without rows are 0, unless there are too many. */
  series(maxSeries: number): { x: number[]; series: { name: string; values: number[] }[] } {
    const total = new Map<string, number>();
    for (const counts of this.counts.values()) for (const [name, count] of counts) total.set(name, (total.get(name) ?? 0) + count);
    const names = [...total].toSorted((a, b) => b[1] - a[1]).map(([name]) => name);
    const shown = names.length > maxSeries ? names.slice(0, maxSeries - 1) : names;
    const x = this.times();
    const of = (time: number, name: string) => this.counts.get(time)?.get(name) ?? 0;
    const series = shown.map((name) => ({ name, values: x.map((time) => of(time, name)) }));
    const others = names.slice(shown.length);
    if (others.length > 0) series.push({ name: `${others.length} others`, values: x.map((time) => others.reduce((sum, name) => sum + of(time, name), 0)) });
    return { x, series };
  }

  private times(): number[] {
    const sorted = [...this.counts.keys()].toSorted((a, b) => a - b);
    const [first, last] = [sorted[0], sorted.at(-1)];
    if (first === undefined || last === undefined || (last - first) / this.width > 2 * MAX_STEPS) return sorted;
    return Array.from({ length: (last - first) / this.width + 1 }, (_, index) => first + index * this.width);
  }
}
