import { Group, TextInput } from '@mantine/core';
import { useState } from 'react';
import type { Labels } from '../../src/client/index.ts';

/** Who a call is for, as typed. */
export function useLabels() {
  const [typed, setTyped] = useState({ user: '', session: '', tags: '', metadata: '' });
  return { typed, setTyped, labels: readLabels(typed) };
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
