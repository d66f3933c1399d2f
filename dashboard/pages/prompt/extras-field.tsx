import { JsonInput } from '@mantine/core';
import { readExtras } from '../../data/prompts/version-extras.ts';
import type { Draft } from './draft.ts';

/** Edits the tools and the rarer settings of a draft, as JSON. */
export function ExtrasField(props: {
  readonly draft: Draft;
  readonly readOnly: boolean;
  readonly onEdit: (change: Partial<Draft>) => void;
}) {
  const { draft, readOnly, onEdit } = props;
  const extras = readExtras(draft.extras);
  return (
    <JsonInput
      aria-label="Tools and more settings as JSON"
      placeholder={'{"seed": 7, "stop": ["END"]}'}
      value={draft.extras}
      onChange={(text) => onEdit({ extras: text })}
      error={typeof extras === 'string' && extras}
      readOnly={readOnly}
      autosize
      minRows={2}
      maxRows={20}
    />
  );
}
