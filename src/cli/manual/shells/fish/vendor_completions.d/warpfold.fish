# Completes warpfold in fish by what `warpfold __complete WORD...` answers.
function __warpfold_complete
    set -l words (commandline -opc)
    set -l word (commandline -ct)
    set -l answer ($words[1] __complete $words[2..] "$word" 2>/dev/null)
    # Options are shown once a dash is typed.
    string match -q -- '-*' "$word"; and set -l hidden '^:'; or set -l hidden '^[:-]'
    string match -rv $hidden -- $answer
    contains -- "$answer[-1]" :0 :2; or return
    set -l option (string match -r '^--[^=]*=' -- $word)
    printf "$option%s\n" (__fish_complete_path (string replace -- "$option" '' $word))
end

complete -c warpfold -f -a '(__warpfold_complete)'
