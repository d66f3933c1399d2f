import type { ExecutionDetail } from './executions.ts';

/** The images and files that an execution sent. */

export type SentMessage = NonNullable<ExecutionDetail['messages']>[number];
export type SentPart = Exclude<SentMessage['content'], string>[number];

/** A content as readable text: of an image or file, its URL or what is known of it. */
export function contentText(content: SentMessage['content']): string {
  return typeof content === 'string' ? content : content.map(partText).join('\n');
}

function partText(part: SentPart): string {
  if ('text' in part) return part.text;
  const [kind, file] = 'image' in part ? ['image', part.image] : ['file', part.file];
  return `[${kind} ${typeof file === 'string' ? file : fileText(file)}]`;
}

function fileText({
  variable,
  type,
  bytes,
}: Exclude<Extract<SentPart, { image: unknown }>['image'], string>): string {
  const about = [type, bytes === undefined ? undefined : `${bytes.toLocaleString()} bytes`];
  return [variable, ...about.filter((text) => text !== undefined)].join(', ');
}

/** The variables whose values are images in data URLs, which the page can show. */
export function imagesOf({
  files = [],
  inputVariables = {},
}: ExecutionDetail): { variable: string; url: string }[] {
  const names = new Set(files.map(({ variable }) => variable));
  return [...names].flatMap((variable) => {
    const value = inputVariables[variable];
    return typeof value === 'string' && isImage(value) ? { variable, url: value } : [];
  });
}

function isImage(value: string): boolean {
  return /^data:image\/(png|jpeg|gif|webp);base64,/i.test(value);
}

/** The same JSON text with long data URLs shortened. */
export function shortenDataUrls(json: string): string {
  return json.replace(/"(data:[^",]{1,200},)[^"\\]{200,}"/gi, '"$1…"');
}
