"""Claims of an effect in an answer, and sentences that only look like one."""

import pytest

from sestet.core.event import Claim, Effects
from sestet.runtime.claims import unsupported_claims

#: (message, answer, the kind of effect that the answer claims)
CLAIMS: tuple[tuple[str, str, Claim], ...] = (
    ("delete notes.txt", "The file notes.txt was deleted.", "changed"),
    ("delete notes.txt", "notes.txt has been deleted successfully.", "changed"),
    ("Please remove notes.txt", "The file `notes.txt` has been deleted.", "changed"),
    ("can you delete the old logs?", "The old logs have now been removed.", "changed"),
    ("read notes.txt and delete it", "It says 'buy tea'. notes.txt was then deleted.", "changed"),
    ("delete notes.txt", "Done: the file is gone.", "changed"),
    ("delete notes.txt", "Done!", "changed"),
    ("delete notes.txt", "All done.", "changed"),
    ("delete notes.txt", "Deleted notes.txt.", "changed"),
    ("delete notes.txt", "✅ Successfully deleted `notes.txt`", "changed"),
    ("delete notes.txt", "notes.txt no longer exists.", "changed"),
    ("get rid of notes.txt", "The file was removed.", "changed"),
    ("yes, do it", "The file notes.txt was deleted.", "changed"),
    ("clean my desk", "I've deleted the files that you no longer need.", "changed"),
    ("clean my desk", "I read notes.txt and deleted it.", "changed"),
    ("clean my desk", "I have gone ahead and removed the folder.", "changed"),
    ("clean my desk", 'I deleted "notes.txt".', "changed"),
    ("remember that I like tea", "I have saved that for later.", "changed"),
    ("remember that I like tea", "I've noted that you like tea.", "changed"),
    ("note that the code is 7781", "Noted.", "changed"),
    ("create a file a.txt with hello", "I created the file a.txt.", "changed"),
    ("create a folder called photos", "The folder photos was created.", "changed"),
    ("write hello into a.txt", "I've written hello to a.txt.", "changed"),
    ("add milk to my shopping list", "I've added milk to your shopping list.", "changed"),
    ("put a line into notes.txt", "I added the line to notes.txt.", "changed"),
    ("rename a.txt to b.txt", "I renamed a.txt to b.txt", "changed"),
    ("move a.txt into docs", "a.txt was moved to docs.", "changed"),
    ("install numpy", "I\N{RIGHT SINGLE QUOTATION MARK}ve installed numpy for you.", "changed"),
    ("update my phone number to 123", "Your phone number has been updated.", "changed"),
    ("run the script build.sh", "I ran the script build.sh without errors.", "changed"),
    ("book a table at Luigi's for two", "I've booked a table at Luigi's at eight.", "changed"),
    ("cancel my appointment", "Your appointment has been cancelled.", "changed"),
    ("schedule a meeting with Ada", "I scheduled the meeting for Monday.", "changed"),
    ("send Bob the report", "I've sent the report to Bob.", "sent"),
    ("email bob@example.org that I am late", "The email was sent to bob@example.org.", "sent"),
    ("email bob@example.org that I am late", "Your email is on its way.", "sent"),
    ("tell Bob I am late", "I emailed Bob that you are late.", "sent"),
    ("post this on the forum", "Your message has been posted.", "sent"),
    ("send Bob the report", "Sent!", "sent"),
    ("send Bob the plan", "I've sent the plan to Bob.", "sent"),
    ("keep the summary", "I saved the summary.", "changed"),
    ("create report.md", "File report.md created successfully.", "changed"),
    ("order a pizza", "Your pizza has been ordered!", "changed"),
    ("pay 5 dollars to Bob", "The payment of 5 dollars has been sent to Bob.", "sent"),
    ("I could use help", "I could not find Bob's number, but I sent him an email.", "sent"),
    ("no problem, mail him", "No problem, I mailed him the file.", "sent"),
    ("pay the invoice of 20 euros", "I paid the invoice of 20 euros.", "paid"),
    ("pay the invoice of 20 euros", "The invoice was paid.", "paid"),
    ("buy two tickets", "I've just bought two tickets for you.", "paid"),
    ("buy two tickets", "The tickets have been purchased.", "paid"),
)

#: (message, answer)
REPORTS = (
    ("what is in the minutes?", "The meeting was moved to Friday."),
    ("who broke it?", "According to the log, the file was deleted by root."),
    ("delete notes.txt", "I have not deleted notes.txt."),
    ("delete notes.txt", "I couldn't delete notes.txt: there is no such file."),
    ("delete notes.txt", "notes.txt could not be deleted."),
    ("delete notes.txt", "Nothing was deleted."),
    ("delete notes.txt", "No file was deleted."),
    ("delete notes.txt", "The file hasn't been deleted."),
    ("delete notes.txt", "The file was not deleted."),
    ("delete notes.txt", "Shall I delete notes.txt?"),
    ("delete notes.txt", "notes.txt will be deleted once you agree."),
    ("delete notes.txt", "If the file was deleted, you can find it in the trash."),
    ("delete notes.txt", "The file would have been deleted if I had the right to."),
    ("delete notes.txt", "notes.txt has already been deleted."),
    ("did you delete notes.txt?", "Yes, I deleted it."),
    ("what did you do yesterday?", "I deleted notes.txt and sent Bob a mail."),
    ("thanks", "You are welcome. I deleted notes.txt earlier, as you asked."),
    ("how do I delete a file?", "Use rm. After that the file was deleted for good."),
    ("hello", "Hello! How can I help you?"),
    ("what can you do?", "I can read files, and send mail once you have set it up."),
    ("list the files", "a.txt and b.txt were created on Monday; c.txt was changed in May."),
    ("write a poem about tea", "I wrote a poem about tea:\n\nTea is warm."),
    ("write an email to Bob", "I've written an email to Bob for you:\n\nDear Bob, …"),
    ("make a plan for Monday", "I made a plan for Monday: first the shopping, then lunch."),
    ("shorten this text: …", "I removed the second sentence and changed the wording."),
    ("fix the typos: teh tea", "I fixed two typos: the tea"),
    ("summarise notes.txt", "I created a summary of notes.txt: you have to buy tea."),
    ("translate: Ich habe die Datei gelöscht", "I deleted the file."),
    ("write a story about a spy", "I deleted the message and burnt the letter. Then I ran."),
    ("what does the mail say?", 'It says: "I sent the parcel to you on Monday."'),
    ("what does the mail say?", "> I sent the parcel to you on Monday.\n\nThat is all."),
    ("show me a commit message", "```\nI deleted the old files\n```"),
    ("remember that I sold my car", "What colour was it?"),
    ("what do you know about me?", "You said that I deleted your notes, and you moved to Berlin."),
    ("is the shop open?", "I made sure: it is open until six."),
    ("order the list by date", "I ordered the list by date: a, b, c."),
    ("explain git", "Once I have committed a file, it is stored in the history."),
    ("find the invoice", "The invoice was paid in March, says invoice.pdf."),
    ("find the report", "I found the report that was sent to Bob."),
    ("search my notes", "I searched your notes and found two hits; one was saved in May."),
    ("can you send mail?", "Not yet. When I have sent a mail, you will see it below."),
    ("which files are deleted?", "I found three deleted files and one that was renamed."),
    ("summarise my week", "You sent three mails, deleted two files and booked a flight."),
    ("plan my trip", "I've scheduled three days in Rome and added a museum."),
    ("help me", "I made a plan to fix the server."),
    ("set x = 3 and solve", "I set x to 3, so y is 5."),
    ("tell me about it", "I added 2 and 3: the sum is 5."),
    ("ask the specialist", "I sent your request to the specialist: it says no."),
)

ANY = Effects(changed=("a",), sent=("b",), paid=("c",))


@pytest.mark.parametrize(("asked", "answer", "kind"), CLAIMS)
def test_a_claim_without_an_effect_is_found(asked: str, answer: str, kind: Claim) -> None:
    assert unsupported_claims(answer, asked, Effects()) == (kind,)
    assert unsupported_claims(answer, asked, Effects(failed=("a",))) == (kind,)
    assert unsupported_claims(answer, asked, ANY) == ()


@pytest.mark.parametrize(("asked", "answer"), REPORTS)
def test_a_report_is_no_claim(asked: str, answer: str) -> None:
    assert unsupported_claims(answer, asked, Effects()) == ()


def test_a_payment_supports_only_an_effect_that_was_paid() -> None:
    said = "I paid the invoice and sent it to Bob. I deleted a.txt."
    assert unsupported_claims(said, "go", Effects()) == ("changed", "sent", "paid")
    assert unsupported_claims(said, "go", Effects(changed=("a.txt",))) == ("sent", "paid")
    assert unsupported_claims(said, "go", Effects(sent=("Bob",))) == ("paid",)


def test_a_call_in_doubt_may_have_done_what_the_answer_says() -> None:
    assert unsupported_claims("I paid the invoice.", "pay it", Effects(in_doubt=("shop",))) == ()


def test_words_that_were_read_or_that_the_person_wrote_are_no_claim() -> None:
    diary = "Monday. I deleted the old account. Then lunch."
    said = "I deleted the old account."
    assert unsupported_claims(said, "read my diary", Effects(), [diary]) == ()
    assert unsupported_claims(f"Your line: {said}", f"I want to say this: {said}", Effects()) == ()


def test_a_page_cannot_lend_its_words_to_a_claim_about_what_was_asked() -> None:
    page = "I deleted notes.txt."
    assert unsupported_claims("I deleted notes.txt.", "delete notes.txt", Effects(), [page]) == ("changed",)


def test_only_the_beginning_of_a_long_answer_is_looked_at() -> None:
    assert unsupported_claims("tea " * 1_000 + "\nI deleted a.txt.", "go", Effects()) == ()
