// Example questions with their statements, those of the guide for analysts: docs/analysts/questions.md.

const files = import.meta.glob<string>('../../../sql/analysts/queries/*.sql', { query: '?raw', import: 'default', eager: true });

export interface Example { question: string; statement: string }

/** The first line of a file is its question, as a comment. */
export const examples: Example[] = Object.entries(files).sort(([a], [b]) => (a < b ? -1 : 1)).map(([, text]) => {
  const [head = '', ...rest] = text.split('\n');
  return { question: head.replace(/^-- /, '').replace(/\.$/, ''), statement: rest.join('\n').trim() };
});
