// Data that the page has, as a CSV file.

/** One field as RFC 4180 has it. */
const field = (value: string | number | null) => {
  const text = value === null ? '' : String(value);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
};

export function csvText(names: string[], rows: (string | number | null)[][]): string {
  return [names, ...rows].map((row) => row.map(field).join(',')).join('\r\n') + '\r\n';
}

/** Gives a text to the reader as a file. */
export function saveText(name: string, text: string, type = 'text/csv'): void {
  saveBlob(name, new Blob([text], { type }));
}

export function saveBlob(name: string, blob: Blob): void {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}
