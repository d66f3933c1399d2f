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

/** An image or file among the variables. */
export interface StoredFile {
  readonly variable: string;
  /** Null if its content is not stored: nothing is fetched from elsewhere. */
  readonly url: string | null;
  readonly type: string;
  readonly isImage: boolean;
}

/** The images and files of a record, also those in lists of messages, in the order of the variables. */
export function storedFiles({ files = [], inputVariables = {} }: ExecutionDetail): StoredFile[] {
  const names = new Set(files.map(({ variable }) => variable));
  return [...names].flatMap((variable): StoredFile[] => {
    const urls = dataUrlsIn(inputVariables[variable]);
    const infos = files.filter((one) => one.variable === variable);
    if (urls.length > 0) {
      return urls.map((url) => ({ variable, url, type: typeOf(url), isImage: isImage(url) }));
    }
    return infos.map(({ type = 'file' }) => ({ variable, url: null, type, isImage: false }));
  });
}

function dataUrlsIn(value: unknown): string[] {
  if (typeof value === 'string') return /^data:[^,]{1,200};base64,/i.test(value) ? [value] : [];
  if (typeof value !== 'object' || value === null) return [];
  return Object.values(value).flatMap(dataUrlsIn);
}

const typeOf = (url: string) => /^data:([^;,]*)/i.exec(url)?.[1] || 'file';

function isImage(value: string): boolean {
  return /^data:image\/(png|jpeg|gif|webp);base64,/i.test(value);
}

/** The same JSON text with long data URLs shortened. */
export function shortenDataUrls(json: string): string {
  return json.replace(/"(data:[^",]{1,200},)[^"\\]{200,}"/gi, '"$1…"');
}
