import { notesMax, tagMax, tagsMax } from '../../http/contract/contract-limits.ts';
import type { DeclaredVersion, Draft } from './draft.ts';
import { contentOf, readMessages } from './imported-messages.ts';
import { checkPlaceholders } from './imported-templates.ts';
import {
  type GivenLangfuse,
  type LangfusePrompt,
  langfuseConnection,
  langfuseReader,
  listPrompts,
  readVersion,
} from './langfuse-api.ts';
import { Located } from './located.ts';
import { fullModelName } from './model-name.ts';
import { settingsOf } from './version-settings.ts';

/**
 * The prompts of a project of Langfuse, with all versions. Each has an agent that pins the version with the label `production`, or
 * the newest one, and an agent for each other label. There is no file that remarks could name: they name lines of `cueline.yaml`.
 */

interface ReadVersion {
  readonly number: number;
  readonly labels: readonly string[];
  readonly tags: readonly string[];
  readonly version: DeclaredVersion;
  readonly at: Located;
}

const main = 'production';
/** Langfuse moves it by itself. */
const newest = 'latest';

export async function importLangfuse(
  draft: Draft,
  given: GivenLangfuse,
  signal: AbortSignal,
): Promise<void> {
  const read = langfuseReader(langfuseConnection(given), signal);
  for (const prompt of await listPrompts(read)) {
    const versions: ReadVersion[] = [];
    for (const number of prompt.versions) {
      const body = await readVersion(read, prompt.name, number);
      const version = body && readOne(draft, body, number, versions.length);
      if (version) versions.push(version);
    }
    if (versions.length > 0) addPrompt(draft, prompt, versions);
  }
}

function readOne(draft: Draft, body: object, number: number, index: number): ReadVersion | null {
  const promptIndex = draft.prompts.length;
  const at = new Located(body, (path) => {
    const written = ['prompts', promptIndex, 'versions', index];
    const found = written.reduce<Located | undefined>(
      (from, step) => from?.step(String(step)),
      draft.written,
    );
    return (
      found?.step(path[0] === 'prompt' ? contentField(found) : 'label').place() ?? 'cueline.yaml:1'
    );
  });
  const template = (place: Located, text: string) => {
    checkPlaceholders(draft, place, text);
    return text;
  };
  const messages = readMessages(draft, at.get('prompt'), template);
  if (messages.length === 0) {
    draft.remark(at, `Version ${number} of "${at.get('name').text()}" is empty: it is left out.`);
    return null;
  }
  const notes = at.get('commitMessage').text()?.slice(0, notesMax);
  const texts = (name: string) =>
    at
      .get(name)
      .items()
      .flatMap((item) => item.text() ?? []);
  return {
    at,
    number,
    labels: texts('labels'),
    tags: texts('tags'),
    version: {
      label: `v${number}`,
      ...contentOf(messages),
      ...readConfig(draft, at.get('config')),
      ...(notes !== undefined && { notes }),
    },
  };
}

function contentField(version: Located): string {
  return version.get('messages').value === undefined ? 'user' : 'messages';
}

/** `config` has any JSON; by custom, the model and its settings. */
function readConfig(draft: Draft, config: Located): Partial<DeclaredVersion> {
  const { model: given, provider, ...settings } = Object.fromEntries(config.members());
  const plain = Object.fromEntries(
    Object.entries(settings).map(([name, { value }]) => [name, value]),
  );
  const name = given?.text();
  const model = name === undefined ? null : fullModelName(name, provider?.text()?.toLowerCase());
  if (given && model === null) {
    draft.remark(
      given,
      `The model "${String(given.value)}" is not carried over: its provider is unknown.`,
    );
  }
  return { ...(model !== null && { model }), ...settingsOf(draft, config.with(plain)) };
}

function addPrompt(
  draft: Draft,
  { name: from }: LangfusePrompt,
  versions: readonly ReadVersion[],
): void {
  const name = draft.addPrompt(
    from,
    versions.map(({ version }) => version),
  );
  const last = versions.at(-1) as ReadVersion;
  const pinned = versions.find(({ labels }) => labels.includes(main)) ?? last;
  const versionAliases = Object.fromEntries(
    versions.slice(-100).map(({ number, version }) => [number, version.label]),
  );
  addAgent(pinned, from, [from]);
  for (const one of versions) {
    for (const label of one.labels) {
      if (label !== main && label !== newest)
        addAgent(one, `${from} ${label}`, [`${from}:${label}`]);
    }
  }

  function addAgent(
    { at, tags, version }: ReadVersion,
    agentName: string,
    knownAs: string[],
  ): void {
    const own = [...new Set(tags)].filter((tag) => tag.length <= tagMax).slice(0, tagsMax);
    draft.addAgent(at, {
      from: agentName,
      knownAs,
      prompt: name,
      version: version.label,
      versionAliases,
      hasModel: version.model !== undefined,
      ...(own.length > 0 && { tags: own }),
    });
  }
}
