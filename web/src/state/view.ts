// How pages are shown: the colour theme, the style of times, and the current time.
import { signal } from '@preact/signals';
import { storedSignal } from './storage.ts';

export type Theme = 'system' | 'light' | 'dark';

const themes = storedSignal<Theme>('theme', 'system', (text) => (text === 'light' || text === 'dark' ? text : 'system'), String);
export const theme = themes.value;

/** Switches from system to light, to dark, and back to system. */
export function nextTheme(): void {
  const next = ({ system: 'light', light: 'dark', dark: 'system' } as const)[theme.value];
  themes.set(next);
  if (next === 'system') delete document.documentElement.dataset['theme'];
  else document.documentElement.dataset['theme'] = next;
}

const times = storedSignal<'age' | 'utc' | 'local'>('times', 'age', (text) => (text === 'utc' || text === 'local' ? text : 'age'), String);
export const timeStyle = times.value;
/** Switches from ages to UTC, to local times, and back to ages. */
export const nextTimeStyle = () => times.set(({ age: 'utc', utc: 'local', local: 'age' } as const)[timeStyle.value]);

/** Milliseconds since 1970, a few seconds old at most. */
export const now = signal(Date.now());
setInterval(() => {
  if (document.visibilityState === 'visible') now.value = Date.now();
}, 5000);
