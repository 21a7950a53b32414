// The account that statements run as. It is stored until the tab is closed, and sent to this server only.
import { signal } from '@preact/signals';
import { base } from '../start/base.ts';

interface Login { user: string; authorization: string }

const KEY = `trawl.sql${base}`;

/** RFC 7617, in UTF-8. */
export function basic(user: string, password: string): string {
  const bytes = new TextEncoder().encode(`${user}:${password}`);
  return `Basic ${btoa(String.fromCharCode(...bytes))}`;
}

function stored(): Login | null {
  try {
    return JSON.parse(sessionStorage.getItem(KEY) ?? 'null') as Login | null;
  } catch {
    return null;
  }
}

export const login = signal<Login | null>(stored());

export function logIn(next: Login | null): void {
  login.value = next;
  try {
    if (next) sessionStorage.setItem(KEY, JSON.stringify(next));
    else sessionStorage.removeItem(KEY);
  } catch {
    // The login then lasts until the page is closed.
  }
}
