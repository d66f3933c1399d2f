import { NativeSelect, Select } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { promptQuery, promptsQuery, versionsQuery } from '../../data/prompts/prompts.ts';
import classes from './new-agent.module.css';
import type { NewAgentSearch } from './route.ts';

const offeredMax = 50;

/** Selects a prompt by name and one of its versions, by default the latest. */
export function VersionChoice(props: {
  readonly promptId: string | undefined;
  readonly promptVersionId: string | undefined;
  readonly onChoose: (choice: NewAgentSearch) => void;
}) {
  const { promptId, promptVersionId, onChoose } = props;
  const [typed, setTyped] = useState('');
  const chosen = useQuery({ ...promptQuery(promptId ?? ''), enabled: promptId !== undefined }).data;
  const [query] = useDebouncedValue(typed === chosen?.name ? '' : typed.trim(), 200);
  const found = useQuery(promptsQuery({ limit: offeredMax, ...(query && { q: query }) })).data;
  const versions = useInfiniteQuery({
    ...versionsQuery(promptId ?? ''),
    enabled: promptId !== undefined,
  }).data;
  const latest = chosen?.latestVersion?.promptVersionId;
  useEffect(() => {
    if (promptId && latest && !promptVersionId) onChoose({ promptId, promptVersionId: latest });
  }, [promptId, latest, promptVersionId, onChoose]);

  const offered = new Map((found?.prompts ?? []).map((one) => [one.promptId, one.name]));
  if (chosen) offered.set(chosen.promptId, chosen.name);
  return (
    <div className={classes.choice}>
      <Select
        label="Prompt"
        placeholder="Search prompts"
        searchable
        required
        withAsterisk={false}
        nothingFoundMessage="No matches"
        data={[...offered].map(([value, label]) => ({ value, label }))}
        value={promptId ?? null}
        onChange={(id) => onChoose(id === null ? {} : { promptId: id })}
        onSearchChange={setTyped}
        error={chosen && !latest ? 'This prompt has no versions yet.' : undefined}
      />
      <NativeSelect
        label="Version"
        disabled={!promptId}
        value={promptVersionId ?? ''}
        onChange={({ currentTarget: { value } }) =>
          promptId && onChoose({ promptId, promptVersionId: value })
        }
        data={(versions ?? []).map((one) => ({
          value: one.promptVersionId,
          label: one.promptVersionLabel,
        }))}
      />
    </div>
  );
}
