import { useState } from "react";
import { Loading, useLoad } from "../../ui/load";
import { date } from "../../ui/time";
import { part, request } from "../../wire/api";
import { Consequence, ForgetDialog } from "./forget";
import type { Lesson } from "./kinds";
import { labelWords, TurnLink } from "./origin";
import { WORDS } from "./words";

const MOST = 200;

/** What happened, and what helped. */
export function Lessons({ tell }: { tell: (text: string) => void }) {
  const list = useLoad<{ lessons: Lesson[] }>(`/api/knowledge/lessons?limit=${MOST}`);
  const [unwanted, setUnwanted] = useState<Lesson | undefined>();
  const rows = list.value?.lessons ?? [];
  return (
    <Loading of={list} lines={6}>
      {rows.length === 0 ? <p className="empty">{WORDS.empty.lessons}</p> : (
        <ul className="rows memory-rows">
          {rows.map((lesson) => (
            <li className="memory-row" key={lesson.id}>
              <div className="memory-line">
                <div className="memory-line-words">
                  <p className="memory-title" dir="auto">{lesson.trigger}</p>
                  <p dir="auto"><span className="quiet">{WORDS.helped}:</span> {lesson.fix}</p>
                  {lesson.cause && <p dir="auto"><span className="quiet">{WORDS.because}:</span> {lesson.cause}</p>}
                </div>
                <button type="button" className="button button-small" aria-label={`${WORDS.forget}: ${lesson.trigger}`} onClick={() => setUnwanted(lesson)}>{WORDS.forget}</button>
              </div>
              <p className="memory-facts">
                {labelWords(lesson.label).map((word) => <span key={word}>{word}</span>)}
                <span>{date(lesson.created_at)}</span>
                <TurnLink session={lesson.session_id} turn={lesson.turn_id} />
              </p>
            </li>
          ))}
        </ul>
      )}
      {rows.length === MOST && <p className="quiet memory-note">{WORDS.onlyLatest(MOST)}</p>}
      {unwanted && (
        <ForgetDialog
          name={WORDS.thisLesson}
          onClose={() => setUnwanted(undefined)}
          forget={async () => {
            await request("DELETE", `/api/knowledge/lessons/${part(unwanted.id)}`);
            list.reload();
            tell(WORDS.forgotten(unwanted.trigger));
          }}
        >
          <blockquote className="memory-quote" dir="auto">{unwanted.trigger}</blockquote>
          <Consequence name={WORDS.goes}><li>{WORDS.lessonGoes}</li></Consequence>
          <Consequence name={WORDS.stays}>
            {unwanted.turn_id && <li><TurnLink session={unwanted.session_id} turn={unwanted.turn_id} /></li>}
            <li>{WORDS.otherConversations}</li>
          </Consequence>
        </ForgetDialog>
      )}
    </Loading>
  );
}
