import { Group, TextInput } from '@mantine/core';
import { useState } from 'react';
import type { Labels } from '../../../src/client/index.ts';

/** As records and schedules have them. */
type GivenLabels = { readonly [Name in keyof Labels]?: Labels[Name] | null | undefined };

/** Who a call is for, as typed. */
export function useLabels(given: GivenLabels = {}) {
  const [initial] = useState(() => typedOf(given));
  const [typed, setTyped] = useState(initial);
  // What was not edited stays as it was given: a comma in a value could not be typed.
  const isUnedited = (name: string) =>
    typed[name as keyof Labels] === initial[name as keyof Labels];
  const unedited = Object.entries(labelsIn(given)).filter(([name]) => isUnedited(name));
  const read = readLabels(isUnedited('metadata') ? { ...typed, metadata: '' } : typed);
  const labels: Labels | null = read && { ...read, ...Object.fromEntries(unedited) };
  return { typed, setTyped, labels };
}

/** Those that are there, for a call. */
export function labelsIn({ user, session, tags, metadata }: GivenLabels): Labels {
  return {
    ...(user && { user }),
    ...(session && { session }),
    ...(tags && { tags }),
    ...(metadata && { metadata }),
  };
}

function typedOf({ user, session, tags, metadata }: GivenLabels) {
  const pairs = Object.entries(metadata ?? {}).map(([name, value]) => `${name}=${value}`);
  return {
    user: user ?? '',
    session: session ?? '',
    tags: tags?.join(', ') ?? '',
    metadata: pairs.join(', '),
  };
}

/** The labels in a PATCH: those that are not there are removed. */
export function withNulls({ user, session, tags, metadata }: Labels) {
  return {
    user: user ?? null,
    session: session ?? null,
    tags: tags ? [...tags] : null,
    metadata: metadata ?? null,
  };
}

/** Empty fields are not sent. Null if the metadata are no list of names and values. */
function readLabels({ user, session, tags, metadata }: Record<string, string>): Labels | null {
  const pairs = listOf(metadata).map((pair) => pair.split(/=(.*)/s));
  if (pairs.some(([name, value]) => !name || value === undefined)) return null;
  return {
    ...(user && { user }),
    ...(session && { session }),
    ...(tags && { tags: listOf(tags) }),
    ...(pairs.length > 0 && {
      metadata: Object.fromEntries(pairs.map(([name = '', value = '']) => [name, value])),
    }),
  };
}

function listOf(text = ''): string[] {
  return text
    .split(',')
    .map((one) => one.trim())
    .filter((one) => one !== '');
}

export function LabelFields({ typed, setTyped, labels }: ReturnType<typeof useLabels>) {
  const field = (name: keyof typeof typed) => ({
    value: typed[name],
    onChange: ({ currentTarget }: { readonly currentTarget: { readonly value: string } }) =>
      setTyped({ ...typed, [name]: currentTarget.value }),
  });
  return (
    <>
      <Group grow gap="xs" mt="sm">
        <TextInput label="User" maxLength={128} placeholder="optional" {...field('user')} />
        <TextInput label="Session" maxLength={128} placeholder="optional" {...field('session')} />
      </Group>
      <Group grow gap="xs" mt="xs">
        <TextInput label="Tags" placeholder="beta, checkout" {...field('tags')} />
        <TextInput
          label="Metadata"
          placeholder="plan=pro, zone=eu"
          error={labels === null && 'Expected name=value, …'}
          {...field('metadata')}
        />
      </Group>
    </>
  );
}
