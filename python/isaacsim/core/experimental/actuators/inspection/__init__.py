"""What robot files say of joints and motors: told, checked, compared, and set against what is applied."""
