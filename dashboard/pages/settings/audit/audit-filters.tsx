import { Button, NativeSelect, TextInput } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { FilterChange } from '../../../components/hooks/use-filters.ts';
import { useOutsideChange } from '../../../components/hooks/use-outside-change.ts';
import { focusFilters } from '../../../components/tables/focus-filters.ts';
import list from '../../../components/tables/list.module.css';
import { SearchInput } from '../../../components/tables/search-input.tsx';
import { fromDateInput, toDateInput } from '../../../data/text/day-range.ts';
import { members } from '../../../data/workspace/members.ts';
import type { AuditSearch } from '../route.ts';
import { actionLabels } from './audit-actions.ts';

export function AuditFilters(props: {
  readonly filters: AuditSearch;
  readonly onChange: (change: FilterChange<AuditSearch>) => void;
  readonly onClear: () => void;
}) {
  const { filters, onChange } = props;
  const { action = '', userId = '', subject = '', startDate = '', endDate = '' } = filters;
  return (
    <search className={list.filters}>
      <SearchInput
        label="Identifier or name of what was changed"
        value={subject}
        onChange={(text) => onChange({ subject: text.trim() || undefined })}
      />
      <UserFilter value={userId} onChange={(to) => onChange({ userId: to || undefined })} />
      <NativeSelect
        aria-label="Action"
        maw="100%"
        value={action}
        data={[
          { value: '', label: 'All actions' },
          ...Object.entries(actionLabels).map(([value, label]) => ({ value, label })),
        ]}
        onChange={({ currentTarget }) => onChange({ action: currentTarget.value || undefined })}
      />
      <DayFilter
        label="From"
        edge="start"
        value={startDate}
        onChange={(to) => onChange({ startDate: to || undefined })}
      />
      <DayFilter
        label="Until"
        edge="end"
        value={endDate}
        onChange={(to) => onChange({ endDate: to || undefined })}
      />
      {hasFilters(filters) && (
        <Button
          variant="default"
          onClick={(event) => {
            focusFilters(event);
            props.onClear();
          }}
        >
          Clear filters
        </Button>
      )}
    </search>
  );
}

export function hasFilters({ offset: _, ...filters }: AuditSearch): boolean {
  return Object.keys(filters).length > 0;
}

/** Members by name. A user who has left, named in the URL, stays chosen. */
function UserFilter(props: {
  readonly value: string;
  readonly onChange: (userId: string) => void;
}) {
  const all = useQuery(members.list()).data ?? [];
  const isListed = props.value === '' || all.some(({ userId }) => userId === props.value);
  return (
    <NativeSelect
      aria-label="User"
      maw="14rem"
      value={props.value}
      data={[
        { value: '', label: 'All users' },
        ...all.map(({ userId, name, email }) => ({ value: userId, label: name || email })),
        ...(isListed ? [] : [{ value: props.value, label: props.value }]),
      ]}
      onChange={({ currentTarget }) => props.onChange(currentTarget.value)}
    />
  );
}

/** Applies a day once it is complete: while a year is typed, it passes through the first centuries. */
function DayFilter(props: {
  readonly label: string;
  readonly edge: 'start' | 'end';
  readonly value: string;
  readonly onChange: (time: string) => void;
}) {
  const { label, edge, value } = props;
  const [typed, setTyped] = useState(toDateInput(value));
  const willEmit = useOutsideChange(value, (time) => setTyped(toDateInput(time)));
  const change = (day: string) => {
    setTyped(day);
    const time = fromDateInput(day, edge, value);
    if (time === null || (day !== '' && day < '1970')) return;
    willEmit(time);
    props.onChange(time);
  };
  return (
    <TextInput
      type="date"
      aria-label={label}
      leftSection={label}
      leftSectionWidth="3.25rem"
      value={typed}
      onChange={({ currentTarget }) => change(currentTarget.value)}
    />
  );
}
