import type { WorkflowVersion } from '../../../src/client/index.ts';
import { type DefinitionFormat, writeDefinition } from '../../data/workflows/definition-text.ts';

/** What is written and not saved. It stands in the window's session storage, whatever page is shown. */
export interface DefinitionDraft {
  /** The version that it began with. */
  readonly baseId: string;
  readonly text: string;
  readonly format: DefinitionFormat;
}

/** What is left of a draft once a version was made of what it was: all that was typed while that was under way. */
export function afterSaving(
  now: DefinitionDraft | null,
  sent: DefinitionDraft,
  { workflowVersionId, definition }: WorkflowVersion,
): DefinitionDraft | null {
  if (now === null || now.text === sent.text) return null;
  // Meanwhile written the other way, and nothing else.
  if (now.text === writeDefinition(definition, now.format)) return null;
  return { ...now, baseId: workflowVersionId };
}
