import { NativeSelect, TextInput } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import type { ChangeEvent } from 'react';
import { pinsQuery } from '../../data/agents/pins.ts';
import { useKeyNames } from '../../data/workspace/key-names.ts';

interface FieldProps {
  readonly value: string;
  readonly onChange: (event: ChangeEvent<HTMLInputElement | HTMLSelectElement>) => void;
}

/** Selects a version by label if the agent's pins are known, else by id. */
export function VersionField({
  agentId,
  ...field
}: FieldProps & { readonly agentId: string | undefined }) {
  const pins = useQuery({ ...pinsQuery(agentId ?? ''), enabled: agentId !== undefined }).data?.pins;
  if (!pins) return <TextInput label="Version" placeholder="ver_…" {...field} />;
  const labels = new Map(pins.map((pin) => [pin.promptVersionId, pin.promptVersionLabel]));
  return <NativeSelect label="Version" data={choices(labels, field.value)} {...field} />;
}

export function KeyField(field: FieldProps) {
  const names = useKeyNames();
  if (!names) return <TextInput label="Key" placeholder="key_…" {...field} />;
  return <NativeSelect label="Key" data={choices(names, field.value)} {...field} />;
}

/** Keeps the current value as an option even if it is not listed. */
function choices(names: ReadonlyMap<string, string>, value: string) {
  const others = value !== '' && !names.has(value) ? [{ value, label: value }] : [];
  const known = [...names].map(([id, label]) => ({ value: id, label }));
  return [{ value: '', label: 'Any' }, ...known, ...others];
}
