export function formatDays(days: number | null, nullText: string): string {
  return days === null ? nullText : days === 1 ? '1 day' : `${days.toLocaleString()} days`;
}
