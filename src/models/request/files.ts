import {
  type Content,
  type ContentFile,
  filesOf,
  withFileValues,
} from '../../core/agent/content.ts';
import { type FileKind, isDataUrl, readStoredFile } from '../../core/agent/file-value.ts';
import type { ModelCall } from '../../core/model/model-port.ts';
import { fileBytesMax } from '../../net/response-limits.ts';
import type { ByteBudget } from '../capacity/byte-budget.ts';
import type { CallOptions, Model } from '../port/model.ts';
import { type FileToFetch, fetchFile, notPublic, tooMany } from './fetch-file.ts';
import { extensionOf, typeOfPath } from './media-types.ts';

/** Images and files in the form of the AI SDK's specification. */

type Messages = Pick<ModelCall, 'messages'>;
type FilePart = Extract<
  Extract<CallOptions['prompt'][number], { role: 'user' }>['content'][number],
  { type: 'file' }
>;

export interface FileFetching {
  readonly download: typeof fetch;
  /** Whether a provider may fetch the URL itself. */
  readonly isPublic: (url: URL) => Promise<boolean>;
  /** Whether the operator allows its host, whatever address it has: the provider may not reach it. Default: none. */
  readonly isAllowed?: (url: URL) => boolean;
  readonly budget: ByteBudget;
}

/** Of all calls in this process. */
export const fetchedBytesMax = 256 * 1024 * 1024;
/** Of one call. */
const callBytesMax = 64 * 1024 * 1024;

/**
 * Runs `work` with the same call, but with a data URL instead of each URL that the model does not fetch itself. One that it
 * fetches must point to a public address. The call holds these files until it ends, so it reserves room for all of them at once.
 */
export async function withFetchedFiles<Call extends Messages, Result>(
  { language }: Pick<Model, 'language'>,
  call: Call,
  { download, isPublic, isAllowed = () => false, budget }: FileFetching,
  signal: AbortSignal,
  work: (call: Call) => Promise<Result>,
): Promise<Result> {
  const supported = await language.supportedUrls;
  const files = new Map<string, FileToFetch>();
  /** One of each origin. */
  const passedOn = new Map<string, FileToFetch>();
  for (const file of (call.messages ?? []).flatMap(({ content }) => urlsIn(content))) {
    const type = typeOfUrl(file.kind, file.url);
    // The provider gets it in this form too.
    const url = new URL(file.url);
    if (!isAllowed(url) && takesUrl(supported, type, url.href)) passedOn.set(url.origin, file);
    else files.set(keyOf(file.kind, file.url), file);
  }
  await refusePrivate([...passedOn.values()], isPublic);
  if (files.size === 0) return work(call);
  const room = await budget.reserve(Math.min(files.size * fileBytesMax, callBytesMax), signal);
  try {
    const fetched = new Map<string, string>();
    let bytes = 0;
    for (const [key, file] of files) {
      const dataUrl = await fetchFile(file, { download, isAllowed }, signal);
      bytes += dataUrl.length;
      if (bytes > callBytesMax) throw tooMany(callBytesMax);
      fetched.set(key, dataUrl);
    }
    room.shrinkTo(bytes);
    return await work(replaceUrls(call, fetched));
  } finally {
    room.release();
  }
}

/** A provider in this network would reach what Cueline itself refuses to fetch. */
async function refusePrivate(
  files: readonly FileToFetch[],
  isPublic: FileFetching['isPublic'],
): Promise<void> {
  const checks = files.map(async ({ variable, url }) => {
    if (!(await isPublic(new URL(url)))) throw notPublic(variable);
  });
  await Promise.all(checks);
}

function keyOf(kind: FileKind, url: string): string {
  return `${kind} ${url}`;
}

function urlsIn(content: Content): FileToFetch[] {
  return filesOf(content).flatMap(({ kind, source: { variable, value } }) =>
    isDataUrl(value) ? [] : { kind, variable, url: value },
  );
}

function replaceUrls<Call extends Messages>(
  call: Call,
  fetched: ReadonlyMap<string, string>,
): Call {
  const valueFor = ({ kind, source: { value } }: ContentFile) =>
    fetched.get(keyOf(kind, value)) ?? value;
  return { ...call, messages: call.messages && withFileValues(call.messages, valueFor) };
}

/** The type that the path of a URL suggests; `image/*` for any other image. */
function typeOfUrl(kind: FileKind, url: string): string | null {
  const type = typeOfPath(new URL(url).pathname);
  if (kind === 'file') return type;
  return type?.startsWith('image/') ? type : 'image/*';
}

/** Whether a model fetches this URL itself. The patterns are keyed by a media type, `image/*` or `*`. */
function takesUrl(supported: Record<string, RegExp[]>, type: string | null, url: string): boolean {
  if (type === null) return false;
  const [group] = type.split('/');
  return [type, `${group}/*`].some((key) => supported[key]?.some((pattern) => pattern.test(url)));
}

/** @param names counts the files of each name, because providers want different ones */
export function filePart(
  kind: FileKind,
  { variable, value }: { readonly variable: string; readonly value: string },
  names: Map<string, number>,
): FilePart {
  const data = readStoredFile(value);
  const mediaType = data?.type ?? typeOfUrl(kind, value) ?? 'application/octet-stream';
  const content = data
    ? ({ type: 'data', data: data.base64 } as const)
    : ({ type: 'url', url: new URL(value) } as const);
  if (mediaType.startsWith('image/')) return { type: 'file', mediaType, data: content };
  const count = (names.get(variable) ?? 0) + 1;
  names.set(variable, count);
  const name = count === 1 ? variable : `${variable}-${count}`;
  return { type: 'file', mediaType, data: content, filename: `${name}.${extensionOf(mediaType)}` };
}
