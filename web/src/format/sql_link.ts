// A statement in the address of the SQL page: behind the #, which no browser sends to a server.

export const sqlLink = (statement: string): string => `/sql#${encodeURIComponent(statement)}`;

/** The statement of such an address; empty if it has none. */
export function statementOf(fragment: string): string {
  try {
    return decodeURIComponent(fragment.replace(/^#/, ''));
  } catch {
    return '';
  }
}
