/** The media types that models read, by the extension of a file's name. */
const types: ReadonlyMap<string, string> = new Map([
  ['png', 'image/png'],
  ['jpg', 'image/jpeg'],
  ['jpeg', 'image/jpeg'],
  ['gif', 'image/gif'],
  ['webp', 'image/webp'],
  ['bmp', 'image/bmp'],
  ['heic', 'image/heic'],
  ['heif', 'image/heif'],
  ['pdf', 'application/pdf'],
  ['txt', 'text/plain'],
  ['md', 'text/markdown'],
  ['html', 'text/html'],
  ['csv', 'text/csv'],
  ['json', 'application/json'],
  ['xml', 'application/xml'],
  ['doc', 'application/msword'],
  ['docx', 'application/vnd.openxmlformats-officedocument.wordprocessingml.document'],
  ['xls', 'application/vnd.ms-excel'],
  ['xlsx', 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet'],
  ['pptx', 'application/vnd.openxmlformats-officedocument.presentationml.presentation'],
  ['mp3', 'audio/mpeg'],
  ['wav', 'audio/wav'],
  ['mp4', 'video/mp4'],
  ['mov', 'video/quicktime'],
  ['webm', 'video/webm'],
]);

/** The media type that the end of a path suggests; null for an unknown one. */
export function typeOfPath(path: string): string | null {
  const extension = /\.([a-z0-9]+)$/i.exec(path)?.[1]?.toLowerCase() ?? '';
  return types.get(extension) ?? null;
}

/** The extension for a file of that type. */
export function extensionOf(type: string): string {
  const known = [...types].find(([, each]) => each === type)?.[0];
  return known ?? (/\/([a-z0-9]+)$/.exec(type)?.[1] || 'bin');
}

/** The media type that the first bytes of a file show, for the types that servers often send without one. */
export function typeOfBytes(bytes: Uint8Array): string | null {
  const beginning = Buffer.from(bytes.subarray(0, 12)).toString('latin1');
  return signatures.find(([signature]) => signature.test(beginning))?.[1] ?? null;
}

const signatures: readonly (readonly [RegExp, string])[] = [
  [/^\x89PNG\r\n/, 'image/png'],
  [/^\xff\xd8\xff/, 'image/jpeg'],
  [/^GIF8[79]a/, 'image/gif'],
  [/^RIFF.{4}WEBP/s, 'image/webp'],
  [/^%PDF-/, 'application/pdf'],
];
