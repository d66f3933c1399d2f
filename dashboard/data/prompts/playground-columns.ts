import { type ModelSettings, noModelSettings } from '../agents/model-settings.ts';

/** The columns of the playground, oldest version first: the newest is on the right, and the draft after it. */

export interface PlaygroundColumn {
  /** Which of the page's executions it shows: the place of a column changes, its slot does not. */
  readonly slot: number;
  /** A version id, or `draftChoice`. */
  readonly choice: string;
  /** Overrides of the version's settings. */
  readonly settings: ModelSettings;
}

/** What the editor of the playground contains: the draft or, without changes, the version that it is based on. */
export const draftChoice = 'draft';

export const columnsMax = 3;

/** The columns of a URL: version ids, separated by commas. */
export function columnsFrom(versions: string | undefined): PlaygroundColumn[] {
  const choices = (versions ?? '').split(',').filter((one) => one !== '');
  const columns = (choices.length === 0 ? [draftChoice] : choices).slice(0, columnsMax);
  return inOrder(columns.map((choice, slot) => ({ slot, choice, settings: noModelSettings })));
}

/** As a URL has them; undefined for the default. */
export function versionsOf(columns: readonly PlaygroundColumn[]): string | undefined {
  const choices = columns.map(({ choice }) => choice).join(',');
  return choices === draftChoice ? undefined : choices;
}

export function withColumn(
  columns: readonly PlaygroundColumn[],
  choice: string,
): readonly PlaygroundColumn[] {
  const slots = Array.from({ length: columnsMax }, (_, slot) => slot);
  const slot = slots.find((one) => columns.every((column) => column.slot !== one));
  if (slot === undefined) return columns;
  return inOrder([...columns, { slot, choice, settings: noModelSettings }]);
}

export function withChoice(
  columns: readonly PlaygroundColumn[],
  slot: number,
  choice: string,
): readonly PlaygroundColumn[] {
  return inOrder(columns.map((one) => (one.slot === slot ? { ...one, choice } : one)));
}

export function withSettings(
  columns: readonly PlaygroundColumn[],
  slot: number,
  change: Partial<ModelSettings>,
): readonly PlaygroundColumn[] {
  return columns.map((one) =>
    one.slot === slot ? { ...one, settings: { ...one.settings, ...change } } : one,
  );
}

/** After the first edit a column shows the draft: the one with the version that it is based on, or a new one. */
export function withDraft(
  columns: readonly PlaygroundColumn[],
  baseId: string | null,
): readonly PlaygroundColumn[] {
  if (columns.some(({ choice }) => choice === draftChoice)) return columns;
  const base = columns.findLast(({ choice }) => choice === baseId);
  if (!base && columns.length < columnsMax) return withColumn(columns, draftChoice);
  const slot = (base ?? columns.at(-1))?.slot ?? 0;
  return withChoice(columns, slot, draftChoice);
}

/** The version that another column compares with: the newest one before those shown, else the newest again. */
export function nextToCompare(
  columns: readonly PlaygroundColumn[],
  versionIds: readonly string[],
  { isChanged, baseId }: { readonly isChanged: boolean; readonly baseId: string | null },
): string {
  const choices = columns.map(({ choice }) => choice);
  if (isChanged && !choices.includes(draftChoice)) return draftChoice;
  const shown = choices.map((choice) => (choice === draftChoice && !isChanged ? baseId : choice));
  return versionIds.find((id) => !shown.includes(id)) ?? versionIds[0] ?? draftChoice;
}

/** Identifiers sort by time. */
function inOrder(columns: readonly PlaygroundColumn[]): PlaygroundColumn[] {
  const keyOf = ({ choice }: PlaygroundColumn) => (choice === draftChoice ? '~' : choice);
  return columns.toSorted((one, other) =>
    keyOf(one) === keyOf(other) ? 0 : keyOf(one) < keyOf(other) ? -1 : 1,
  );
}
