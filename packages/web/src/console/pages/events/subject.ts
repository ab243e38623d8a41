/** What an event is about: the id of the thing it shows. */
export function subjectOf({ data }: { data: object }): string {
  const { id, conversation_id, user_id, cap } = data as Record<string, unknown>;
  return String(id ?? conversation_id ?? user_id ?? cap ?? '');
}
